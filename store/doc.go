// Package store keeps the log of a project.
package store
