"""The options that every source shares: watermark, time attributes, pushed-down columns, load gate."""
