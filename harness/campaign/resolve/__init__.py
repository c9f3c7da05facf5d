"""From a checked document to the campaign that is executed."""
