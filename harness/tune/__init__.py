"""Changes settings of the host for as long as is measured, and puts every one of them back."""
