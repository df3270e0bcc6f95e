"""Results of formulas after an edit: calculated anew where that can be done rightly, else taken away."""
