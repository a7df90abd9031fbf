"""Job files of OpenPAI: JSON of its first versions, YAML of its later ones, read and written."""
