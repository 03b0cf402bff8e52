package destination

import "surehook.example/surehook/internal/hook"

// http is a request to the endpoint's URL. Its settings are those of the endpoint itself, which
// package hook checks, and package egress the URL.
func http() Type { return Type{Name: hook.DestinationHTTP, Action: "POST"} }
