"""Pictures as SVG and PNG, drawn without a chart library."""
