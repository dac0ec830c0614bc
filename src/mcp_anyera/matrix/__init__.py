"""The compat matrix: which client stack works with which server, and why not.

``anyera matrix`` is its front. Each client stack is a program in an environment of
its own (``programs/``, ``stacks/``, ``locks/``), each server a process of its
own; between them stands something that writes down what passes. The programs say
what came of a scenario; what it should have been is in ``scenarios.toml``, and the
verdict is made here.
"""
