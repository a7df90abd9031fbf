"""TI-ONE: the requests that its client tikit sends, and the answers that it reads."""
