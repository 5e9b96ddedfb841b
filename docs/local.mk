# docs, and what stands at the top of the tree: the tarball carries all that its tests and its readers need.
EXTRA_DIST += README.md LICENSE .clang-format scripts %D%/README.md %D%/api.md %D%/architecture.md %D%/assurance.md %D%/audit.md %D%/companions.md %D%/contract.md \
  %D%/lifecycle.md %D%/materialize.md %D%/import.md %D%/quality.md %D%/register.md %D%/adr
dist_man_MANS += %D%/man/admitctl.1 %D%/man/admit.3 %D%/man/admitd.8
EXTRA_DIST += %D%/console.md %D%/console.png
