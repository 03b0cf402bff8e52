// Package reliability compares Surehook's default treatment of endpoints with a
// plain retry schedule, on the same outages. It is a test: the real use cases
// run over the memory ports for 30 days of a virtual clock.
//
// 500 endpoints in three classes go down and up again: both last as long as
// exponential distributions say, chosen so that first attempts succeed as often
// as each class is known for, and so that the reference policy (8 attempts after
// 0, 30 s, 2 m, 10 m, 30 m, 1 h, 4 h and 8 h, no breaker, no parking) ends with the
// final success that is known of it. Docs/reliability.md has the figures.
package reliability
