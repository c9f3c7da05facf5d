"""What `fairtrial compare` is made of: its options, its commands, their tries, its campaign, what one watches."""
