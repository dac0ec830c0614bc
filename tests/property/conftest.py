"""Hypothesis profiles: a quick, repeatable one by default, a long one on request."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW_IS_FINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _SLOW_IS_FINE, max_examples=100, derandomize=True)
settings.register_profile("long", _SLOW_IS_FINE, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
