"""Results as SVG pictures, for pages and reports."""
