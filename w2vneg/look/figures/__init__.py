"""Figures, in one style: `charts` says what is shown, `still` draws it for papers, `interactive` for pages."""
