package wire

import (
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/names"
)

// Policy returns the policy for requests to endpoints.
func Policy(cfg config.Settings) egress.Policy {
	return egress.Policy{Loopback: cfg.Egress == names.EgressLoopback, Host: cfg.EgressHost, RuntimeAPI: cfg.RuntimeAPI, Own: cfg.APIHosts}
}
