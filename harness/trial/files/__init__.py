"""Files that runs read and write: inputs, metric files, caught outputs, and whether outputs agree."""
