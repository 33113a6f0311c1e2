"""Files and folders: complete or not there, read within bounds, owned by one process; and where caches lie."""
