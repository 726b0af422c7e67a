"""Where an operator sets things up: endpoints, models, settings, the list of compactions."""
