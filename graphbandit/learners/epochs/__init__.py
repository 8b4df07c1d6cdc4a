"""What learners that fit once an epoch share."""
