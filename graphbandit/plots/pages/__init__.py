"""Pages that every report shares: one HTML file each, with its style, its script, tables that sort, and figures."""
