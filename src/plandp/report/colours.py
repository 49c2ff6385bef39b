"""Okabe and Ito's colours: told apart with any colour vision, and by lightness in grey print."""

BLUE, SKY, VERMILLION = "#0072B2", "#56B4E9", "#D55E00"
