"""COS: the object store that tikit keeps code, data and outputs in."""
