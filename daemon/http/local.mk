# daemon/http
