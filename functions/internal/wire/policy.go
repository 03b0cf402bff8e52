package wire

import (
	"surehook/internal/config"
	"surehook/internal/delivery/egress"
)

// Policy returns the policy for requests to endpoints.
func Policy(c config.Egress) egress.Policy {
	return egress.Policy{Loopback: c.Loopback, Host: c.Host, RuntimeAPI: c.RuntimeAPI, Own: c.APIHosts}
}
