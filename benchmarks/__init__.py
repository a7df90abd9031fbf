"""The measured claims, each beside a bare limit or a peer in the same run."""
