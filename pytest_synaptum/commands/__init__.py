"""The commands of `synaptum-corpus`, a module each."""
