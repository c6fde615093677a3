"""All figures; nothing else imports a plotting library, and this package none before a figure is drawn (`draw`)."""
