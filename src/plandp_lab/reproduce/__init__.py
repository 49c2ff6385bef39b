"""Everything that the PLAN paper shows, measured again at honest ρ and drawn beside the published figures."""
