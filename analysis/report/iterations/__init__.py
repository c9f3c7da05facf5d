"""The chapter on the iterations of runs that time themselves: which are judged, and what each run is called."""
