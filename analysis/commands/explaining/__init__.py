"""What the command ``why`` has of the judge: whom the verdict calls slower, and how profiles are explained."""
