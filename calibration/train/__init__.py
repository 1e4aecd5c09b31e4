"""Make the networks anew: those that find the board (here) together with those that read it (`vision.train`)."""
