package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// part is a part of the bill of a scenario.
type part struct {
	name string
	cost func(s Scenario) float64 // USD per million deliveries
}

// charged returns the cost of the units of the charge.
func charged(s Scenario, c Charge, units float64) float64 {
	return Usage{c: units}.Times(million / float64(s.Deliveries)).Bill().Total()
}

// partsOf returns the parts of the bills: all charges, with the units of DynamoDB by kind.
func partsOf(scenarios []Scenario) []part {
	var parts []part
	for _, price := range Prices() {
		c := price.Charge
		if c != WriteUnit && c != ReadUnit {
			parts = append(parts, part{string(price.Service) + ": " + price.Name, func(s Scenario) float64 { return charged(s, c, s.Account.Usage[c]) }})
		}
	}
	kinds := make(map[string]bool)
	for _, s := range scenarios {
		for kind := range s.Account.Units {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		c := ReadUnit
		if strings.HasPrefix(kind, "write ") {
			c = WriteUnit
		}
		parts = append(parts, part{"DynamoDB: " + kind, func(s Scenario) float64 { return charged(s, c, s.Account.Units[kind]) }})
	}
	return parts
}

// leastPart is the cost in USD of a part with a row.
const leastPart = 0.005

// parts writes where the money of the first-try scenarios goes.
func (r Report) parts(b *strings.Builder) {
	shown := slices.DeleteFunc(slices.Clone(r.Scenarios), func(s Scenario) bool { return !s.Parts })
	b.WriteString("| USD per million |")
	for _, s := range shown {
		fmt.Fprintf(b, " %s |", s.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(shown)) + "\n")
	for _, p := range partsOf(shown) {
		if !slices.ContainsFunc(shown, func(s Scenario) bool { return p.cost(s) >= leastPart }) {
			continue
		}
		fmt.Fprintf(b, "| %s |", p.name)
		for _, s := range shown {
			fmt.Fprintf(b, " %.2f |", p.cost(s))
		}
		b.WriteString("\n")
	}
	b.WriteString(floor)
}

// floor says which parts stay.
const floor = `
No change of the code can save these, for an event posted alone: the API's request (1.00), one write each of event and delivery (1.25), the message (0.60) and 1.1 invocations (0.22), together 3.07. [Decision 31](adr/31-costs.md) explains the rest.
`
