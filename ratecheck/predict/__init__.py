"""The regret that theory predicts, without a free parameter, at any horizon."""
