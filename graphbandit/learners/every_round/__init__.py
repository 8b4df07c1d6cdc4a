"""What learners that learn in every round share."""
