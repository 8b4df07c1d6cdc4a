"""What results say: summaries, paired differences, ranks, intervals."""
