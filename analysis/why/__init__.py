"""Why a variant is slower: where the time of its processors goes, function by function, each with its interval."""
