pkgconfig_DATA = %D%/admit.pc

# bash-completion loads a file that is called as the command is.
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = %D%/completions/admitctl
%D%/completions/admitctl: $(srcdir)/%D%/admitctl.bash-completion
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/%D%/admitctl.bash-completion $@
CLEANFILES += %D%/completions/admitctl
EXTRA_DIST += %D%/admitctl.bash-completion
