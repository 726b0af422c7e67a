"""The pure core: values in, values out. Imports the standard library only; chatapp does the reading and writing."""
