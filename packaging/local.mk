pkgconfig_DATA = %D%/admit.pc
