"""Where exchanges are seen: one seam for each client, and the guard behind them all."""
