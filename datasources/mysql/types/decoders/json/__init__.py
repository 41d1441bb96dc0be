"""MySQL's binary JSON: `json_binary` parses it, `json_diff` applies partial updates, `json_text` prints it."""
