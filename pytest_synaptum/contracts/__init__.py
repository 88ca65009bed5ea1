"""Tests that a store, a gateway or a provider of one's own must pass: subclass, give a factory.

class TestMyStore(CheckpointerContract):
def open_store(self, folder):
return MyStore(folder / "journal")
"""
