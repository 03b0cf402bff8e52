package httpapi

import (
	"maps"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

// destinationOf translates a flat object: the type, and its settings that are not empty, which
// package rule/destination checks.
func destinationOf(fields map[string]string) (*hook.Destination, hook.Fields) {
	var d hook.Destination
	var wrong hook.Fields
	if d.Type, wrong = choose("destination.type", fields["type"], destination.Names()...); len(wrong) > 0 {
		return nil, wrong
	}
	for name, value := range fields {
		if name != "type" && value != "" {
			if d.Settings == nil {
				d.Settings = make(map[string]string, len(fields))
			}
			d.Settings[name] = value
		}
	}
	return &d, nil
}

// viewDestination is the inverse, with the external id of a stored endpoint.
func viewDestination(d hook.Destination) map[string]string {
	fields := map[string]string{"type": d.Type.String()}
	if d.ExternalID != "" {
		fields["external_id"] = d.ExternalID
	}
	maps.Copy(fields, d.Settings)
	return fields
}

// destinationsView holds what a customer needs to know to create the role of an AWS destination.
type destinationsView struct {
	Types     []string `json:"types"`
	RolePath  string   `json:"role_path"`
	Principal string   `json:"principal"`
}

// viewDestinations returns nil if the deployment has no AWS destinations.
func viewDestinations(d hook.Destinations) *destinationsView {
	if d.RolePath == "" {
		return nil
	}
	types := each(destination.Names()[1:], hook.DestinationType.String) // http needs no role
	return &destinationsView{Types: types, RolePath: d.RolePath, Principal: d.Principal}
}
