"""Pictures as SVG and PNG, without a library of charts."""
