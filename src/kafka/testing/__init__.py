"""Simulations of programs that use Kafka: real clients and real brokers on one loop, with virtual time and a seed.

The package is outside the layers: it imports the clients, the embedded broker and everything below them, and no other
package imports it.
"""

from kafka.testing.network import Network
from kafka.testing.simulated_loop import SimulatedLoop, SimulationStuckError, run_simulated
from kafka.testing.simulation import Report, run_seed

__all__ = ["Network", "Report", "SimulatedLoop", "SimulationStuckError", "run_seed", "run_simulated"]
