"""`footplate up --demo`: a server of its own, with real jobs to look at, and nothing left when it ends."""
