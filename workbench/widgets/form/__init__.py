"""The form: the fields of a config, and the button that starts a run."""
