package wire

import (
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/egress"
)

// Policy returns the policy for requests to endpoints.
func Policy(c config.Egress) egress.Policy {
	return egress.Policy{Loopback: c.Loopback, Host: c.Host, RuntimeAPI: c.RuntimeAPI, Own: c.APIHosts}
}
