"""Files on storages of every kind, behind one seam."""
