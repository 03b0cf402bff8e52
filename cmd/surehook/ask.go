package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// askBefore asks the question of the operation about the argument. It says where the call acts.
func (p *program) askBefore(ctx context.Context, api *client.Client, s settings, o operation, arg string) error {
	if o.mild && p.Secret == nil { // nobody is there
		return nil
	}
	question := fmt.Sprintf(o.ask, printable(arg))
	if o.cancels {
		var health openapi.EndpointHealth
		answer, err := api.Call(ctx, client.Call{Method: get, Path: client.Path(endpointsPath+"/{endpoint}/health", map[string]string{"tenant": s.Tenant, "endpoint": arg})})
		switch problem, refused := errors.AsType[*client.Problem](err); {
		case refused && problem.Status == http.StatusForbidden: // the key may delete, and not read
			question += " What waits is cancelled."
		case err != nil:
			return fmt.Errorf("count what waits: %w", err)
		default:
			if err := decode(answer, &health); err != nil {
				return err
			}
			question += " " + atLeast(health.Complete) + counted(health.Deliveries.Retrying+health.Deliveries.Parked, "waiting delivery is", "waiting deliveries are") + " cancelled."
		}
	}
	return p.confirm(ctx, question+p.where(s, strings.Contains(o.path, "{tenant}") && !strings.Contains(o.use, "TENANT")))
}

// where names the tenant, the context and the deployment that a call acts on.
func (p *program) where(s settings, tenant bool) string {
	place := s.URL
	if file, err := p.readConfig(); err == nil {
		if named := p.contextInUse(file); named != "" {
			place = named + ", " + place
		}
	}
	if tenant && s.Tenant != "" {
		place = "tenant " + s.Tenant + ", " + place
	}
	return " [" + printable(place) + "]"
}

// atLeast returns the words before a number that is a lower bound.
func atLeast(complete bool) string {
	if complete {
		return ""
	}
	return "at least "
}

// counted returns the number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
