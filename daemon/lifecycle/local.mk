# daemon/lifecycle
