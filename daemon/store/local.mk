# daemon/store
