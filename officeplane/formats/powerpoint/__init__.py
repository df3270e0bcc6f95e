"""PowerPoint: presentations edited as the parts they are made of."""
