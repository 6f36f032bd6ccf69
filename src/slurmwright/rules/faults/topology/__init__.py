"""TO: switch trees and blocks, in topology.conf and topology.yaml."""
